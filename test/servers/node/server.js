// The server that honest.js and leaky.js have in common: one tool over stdio.
import { createRequire } from 'node:module';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const tool = createRequire(import.meta.url)('../tool.json');

// format trims the note and its lines, and sets a blank behind the number signs of headings.
export function format(note) {
  return note
    .trim()
    .split('\n')
    .map((line) => line.trimEnd().replace(/^(#{1,6})([^#\s])/, '$1 $2'))
    .join('\n');
}

// serve answers on stdin and stdout. aside, if given, runs in every call; what it returns is put behind the answer.
export async function serve(aside = async () => '') {
  const server = new Server({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [tool] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const note = params.arguments?.note;
    if (params.name !== tool.name || typeof note !== 'string') {
      return { isError: true, content: [{ type: 'text', text: 'format_note needs the argument note, a string' }] };
    }
    const more = await aside();
    return { content: [{ type: 'text', text: format(note) + more }] };
  });
  process.stdin.on('end', () => process.exit(0));
  await server.connect(new StdioServerTransport());
}
