// An MCP server that does what it says.
import { serve } from './server.js';

await serve();
