#!/bin/sh
# Takes doubled payments out of payments.json without any model: it reads and writes over MCP, with curl alone.
# Any other task is none of its business, and it says so.

ask() {
  curl -s --max-time 20 "$FORGE_CHAOS_MCP_URL" \
    -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
    -d "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"$1\", \"arguments\": $2}}"
}

failed() {
  echo "{\"output\": \"FAILED: $1\"}"
  exit 0
}

[ "$EVAL_NAME" = payments ] || failed "this knows payments alone"
for try in 1 2 3; do
  reply=$(ask read_file '{"path": "payments.json"}')
  case $reply in *'"isError":false'*) break ;; esac
  [ "$try" = 3 ] && failed "payments.json cannot be read"
done
table=$(printf '%s' "$reply" | tr -d '\\ ' | tr '{' '\n' | awk -F'"' '
  $8 == "txn" { amount = $3; gsub(/[^0-9]/, "", amount)
    if (!($10 in seen)) { seen[$10] = 1; printf "%s,%s,%s\\n", $10, $6, amount; sum += amount } }
  END { printf "total,,%s", sum }')
reply=$(ask write_file "{\"path\": \"unique.csv\", \"text\": \"txn,customer,amount\\n$table\\n\"}")
case $reply in *'"isError":false'*) echo '[{"output": "DONE"}]' ;; *) failed "unique.csv cannot be written" ;; esac
