#!/bin/sh
# A tool-calling loop in plain shell: chat completions and MCP, both over HTTP with curl, read and written with jq.
set -eu
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
cd "$kept"

post() { # post URL: the body comes on standard input
  curl -s --max-time 20 "$1" --data-binary @- -H "authorization: Bearer ${OPENAI_API_KEY-}" \
    -H 'content-type: application/json' -H 'accept: application/json, text/event-stream'
}

rpc() { # rpc METHOD: its parameters come on standard input
  jq -c --arg method "$1" '{jsonrpc: "2.0", id: 1, method: $method, params: .}' | post "$FORGE_CHAOS_MCP_URL"
}

cat > task
jq -c '[{role: "user", content: .input}]' task > messages
echo '[]' > made
echo '{}' | rpc tools/list | jq -c '[.result.tools[] | {type: "function",
  function: {name, description: (.description // ""), parameters: .inputSchema}}]' > tools

for step in $(seq "$(jq .max_steps task)"); do
  jq -nc --slurpfile messages messages --slurpfile tools tools \
    '{model: "any", messages: $messages[0], tools: $tools[0]}' |
    post "$OPENAI_BASE_URL/chat/completions" | jq -c '.choices[0].message' > said
  jq -c --slurpfile said said '. + $said' messages > longer && mv longer messages
  jq -c '.tool_calls // [] | .[]' said > asked
  [ -s asked ] || break
  while read -r call; do
    printf '%s\n' "$call" > call
    jq -c '{name: .function.name, arguments: (.function.arguments | fromjson)}' call > params
    rpc tools/call < params > told || echo '{"result": {"content": [{"text": "the call came to nothing"}]}}' > told
    jq -c --slurpfile call call '{role: "tool", tool_call_id: $call[0].id,
      content: ([.result.content[]?.text // empty] | join("\n"))}' told > result
    jq -c --slurpfile result result '. + $result' messages > longer && mv longer messages
    jq -c --slurpfile params params '. + [$params[0] | {name, args: .arguments}]' made > longer && mv longer made
  done < asked
done
jq -c --slurpfile made made '{output: (.[-1].content // ""), tool_calls: $made[0]}' messages
