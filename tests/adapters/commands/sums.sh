#!/bin/sh
# Adds up the amounts of orders.csv without any model: it reads over MCP, with curl alone, and writes by itself.
# It tries a read three times, then gives up and says so.

ask() {
  curl -s --max-time 20 "$FORGE_CHAOS_MCP_URL" \
    -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
    -d "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"$1\", \"arguments\": $2}}"
}

for try in 1 2 3; do
  reply=$(ask read_file '{"path": "orders.csv"}')
  case $reply in
    *'"isError":false'*) read=yes && break ;;
    *) echo "try $try: $reply" >&2 ;;
  esac
done
if [ "$read" != yes ]; then
  echo '{"output": "FAILED: orders.csv cannot be read"}'
  exit 0
fi
text=$(printf '%s' "$reply" | sed -e 's/.*"text":"//' -e 's/","type".*//' -e 's/".*//')
printf '%b\n' "$text" | awk -F, '$2 ~ /^[0-9]+$/ && $1 != "rows" { sum += $2; n++ } $1 == "rows" { rows = $2 }
  END { if (n == 0 || n != rows) exit 1; print sum }' > sum.tmp || {
  rm -f sum.tmp
  echo '{"output": "FAILED: orders.csv is not whole"}'
  exit 0
}
mv sum.tmp total.txt
echo '{"output": "DONE", "tool_calls": [{"name": "read_file", "args": {"path": "orders.csv"}}]}'
