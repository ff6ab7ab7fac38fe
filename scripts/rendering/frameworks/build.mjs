// node build.mjs OUT [name...]
// Builds the named sites (default: all) into OUT/sites/NAME and writes OUT/truth.json.
import { spawn } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { articlePages, listPages, pages, template, truth } from "./content.mjs";

// result: folder that the build makes. data: what is put into /data ("split" has
// the last two paragraphs of an article in a second file; none means bundled).
const sites = {
  static: { result: "dist" },
  react: { result: "dist", data: "split" },
  preact: { result: "dist" },
  vue: { result: "dist", data: "whole" },
  svelte: { result: "dist" },
  solid: { result: "dist", data: "whole" },
  lit: { result: "dist", data: "whole" },
  mithril: { result: "dist", data: "whole" },
  jquery: { result: "dist", data: "whole" },
  alpine: { result: "dist", data: "whole" },
  "ssr-vue": { result: "dist", data: "whole" },
  sveltekit: { result: "build", data: "whole" },
  astro: { result: "dist", data: "whole" },
  next: { result: "out", data: "whole" },
  angular: { result: "dist/browser", data: "whole" },
  nuxt: { result: ".output/public", data: "whole" },
};

const here = dirname(fileURLToPath(import.meta.url));
const [outArgument, ...named] = process.argv.slice(2);
if (!outArgument) {
  console.error("usage: node build.mjs OUT [name...]");
  process.exit(2);
}
const out = resolve(outArgument);
const unknown = named.filter((name) => !sites[name]);
if (unknown.length) {
  console.error(`unknown: ${unknown.join(", ")}; known: ${Object.keys(sites).join(", ")}`);
  process.exit(2);
}

const json = (value) => JSON.stringify(value, null, 1) + "\n";
const exists = (path) => stat(path).then(() => true, () => false);

function run(cwd, command, ...args) {
  const env = {
    ...process.env,
    CI: "1",
    NEXT_TELEMETRY_DISABLED: "1",
    NUXT_TELEMETRY_DISABLED: "1",
    ASTRO_TELEMETRY_DISABLED: "1",
    NG_CLI_ANALYTICS: "false",
  };
  return new Promise((done, fail) => {
    const child = spawn("nice", [command, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    child.stdout.on("data", (chunk) => (log += chunk));
    child.stderr.on("data", (chunk) => (log += chunk));
    child.on("error", fail);
    child.on("close", (code) =>
      code === 0 ? done() : fail(new Error(`${command} ${args.join(" ")}: exit ${code}\n${log}`)));
  });
}

async function writeData(folder, kind) {
  await mkdir(join(folder, "articles"), { recursive: true });
  await writeFile(join(folder, "index.json"), json(listPages));
  for (const { slug, ...page } of articlePages) {
    const file = (ending) => join(folder, "articles", `${slug}${ending}.json`);
    if (kind === "split") {
      await writeFile(file(".more"), json(page.blocks.slice(-2)));
      page.blocks = page.blocks.slice(0, -2);
      page.more = `/data/articles/${slug}.more.json`;
    }
    await writeFile(file(""), json(page));
  }
}

// "name version" for each package that the site asks for.
async function versions(work) {
  const read = async (folder) => JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const names = Object.keys((await read(work)).dependencies ?? {});
  const found = await Promise.all(names.map((name) => read(join(work, "node_modules", name))));
  return found.map(({ name, version }) => `${name} ${version}`).join(", ");
}

async function build(name) {
  const { result, data } = sites[name];
  const work = join(out, "work", name);
  const target = join(out, "sites", name);
  await rm(work, { recursive: true, force: true });
  await cp(join(here, name), work, { recursive: true });
  const shared = join(work, "src", "shared");
  await cp(join(here, "shared"), shared, { recursive: true });
  await writeFile(join(shared, "site.json"), json(template));
  await writeFile(join(shared, "all.json"),
    json(Object.fromEntries(pages.map(({ slug, ...page }) => [page.path, page]))));
  try {
    await run(work, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock");
    const used = await versions(work);
    await run(work, "npm", "run", "build");
    if (!(await exists(join(work, result)))) throw new Error(`the build made no ${result}`);
    await rm(target, { recursive: true, force: true });
    await mkdir(dirname(target), { recursive: true });
    await cp(join(work, result), target, { recursive: true });
    if (data) await writeData(join(target, "data"), data);
    return used;
  } finally {
    await rm(join(work, "node_modules"), { recursive: true, force: true });
  }
}

await mkdir(out, { recursive: true });
await writeFile(join(out, "truth.json"), json(truth));
for (const name of named.length ? named : Object.keys(sites)) {
  const start = Date.now();
  try {
    const used = await build(name);
    const entries = await readdir(join(out, "sites", name), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    let bytes = 0;
    for (const file of files) bytes += (await stat(join(file.parentPath ?? file.path, file.name))).size;
    console.log(`${name}: ${files.length} files, ${bytes} bytes, ${Math.round((Date.now() - start) / 1000)} s; ${used || "no packages"}`);
  } catch (error) {
    console.error(`${name}: FAILED after ${Math.round((Date.now() - start) / 1000)} s\n${error.message}`);
    process.exitCode = 1;
  }
}
