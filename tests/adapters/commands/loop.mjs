// A tool-calling loop on the official clients of both protocols: `openai` and `@modelcontextprotocol/sdk`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";
import { readFileSync } from "node:fs";

const task = JSON.parse(readFileSync(0, "utf8"));
const openai = new OpenAI();
const mcp = new Client({ name: "loop", version: "1.0.0" });
await mcp.connect(new StreamableHTTPClientTransport(new URL(process.env.FORGE_CHAOS_MCP_URL)));

const { tools } = await mcp.listTools();
const offered = tools.map((tool) => ({
  type: "function",
  function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
}));

async function call(name, text) {
  try {
    const done = await mcp.callTool({ name, arguments: JSON.parse(text) }, undefined, { timeout: 20_000 });
    return done.content.map((part) => part.text ?? "").join("\n");
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const messages = [{ role: "user", content: task.input }];
const made = [];
for (let step = 0; step < task.max_steps; step++) {
  const reply = await openai.chat.completions.create({ model: "any", messages, tools: offered });
  const said = reply.choices[0].message;
  messages.push(said);
  if (!said.tool_calls?.length) break;
  for (const asked of said.tool_calls) {
    const { name, arguments: text } = asked.function;
    made.push({ name, args: JSON.parse(text) });
    messages.push({ role: "tool", tool_call_id: asked.id, content: await call(name, text) });
  }
}
await mcp.close();
process.stdout.write(JSON.stringify({ output: messages.at(-1).content ?? "", tool_calls: made }) + "\n");
