// Starts a real server on a free port with a temporary data folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = process.env.AGENTICIQA_PROGRAM ?? join(ROOT, 'target/debug/agenticiqa');
const PATIENCE = 60_000; // milliseconds to wait for the server to start

/** Images of the repository. */
export const pictures = {
  osprey: join(ROOT, 'examples/osprey.jpg'),
  compressed: join(ROOT, 'examples/osprey-compressed.jpg'),
  blurred: join(ROOT, 'examples/osprey-blurred.jpg'),
  astronaut: join(ROOT, 'tests/data/astronaut.jpg'),
  otters: join(ROOT, 'tests/data/otters.jpg'),
  cityscape: join(ROOT, 'tests/data/cityscape.jpg'),
};

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/**
 * Starts `agenticiqa serve`. `stop` ends it and returns its output.
 * @param {Record<string, string>} [environment]
 */
export async function startServer(environment = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'agenticiqa-browser-'));
  const port = await freePort();
  const child = spawn(PROGRAM, ['serve', '--host', '127.0.0.1', '--port', String(port), '--data', join(folder, 'data')], {
    cwd: folder, // avoids the configuration of the user
    env: { PATH: process.env.PATH, HOME: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (text) => { said += text; });
  child.stderr.on('data', (text) => { said += text; });
  const base = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await once(child, 'exit');
      clearTimeout(late);
    }
    await rm(folder, { recursive: true, force: true });
    return said;
  };
  const until = Date.now() + PATIENCE;
  for (;;) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`the server did not start: ${await stop()}`);
    const healthy = await fetch(`${base}/health`).then((response) => response.ok, () => false);
    if (healthy) return { base, stop };
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
