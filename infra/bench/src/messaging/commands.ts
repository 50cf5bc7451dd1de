import { createServer } from 'node:http';
import { announce } from '../server.ts';

type Numbers = Readonly<Record<string, number>>;

/** For the programs: serves commands, `POST /<name>?<numbers>`. The response is what the command measured. */
export function serveCommands(commands: Readonly<Record<string, (numbers: Numbers) => Promise<object>>>): void {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const command = commands[pathname.slice(1)];
    if (!command) return void response.writeHead(404).end();
    const numbers = Object.fromEntries([...searchParams].map(([name, value]) => [name, Number(value)]));
    command(numbers).then(
      (result) => response.end(JSON.stringify(result)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
  });
}

/** For the cases: sends a command to a program and waits for what it measured. */
export async function command<T extends object>(url: string, name: string, numbers: Numbers = {}): Promise<T> {
  const query = new URLSearchParams(Object.entries(numbers).map(([key, value]) => [key, String(value)]));
  const response = await fetch(`${url}/${name}?${query}`, { method: 'POST' });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name}: ${text}`);
  return JSON.parse(text) as T;
}
