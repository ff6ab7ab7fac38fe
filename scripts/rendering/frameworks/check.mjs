// node check.mjs OUT [name...]
// Loads every page of each built site in Chromium and compares it with OUT/truth.json.
// Prints one line per site, with the number of requests that a page load makes.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [out, ...named] = process.argv.slice(2);
const port = Number(process.env.PORT ?? 8791);
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const fullHtml = new Set(["static", "ssr-vue"]); // the text is in the HTML
const fullLoads = new Set(["static", "astro"]); // a click loads a new document
const truth = JSON.parse(readFileSync(join(out, "truth.json"), "utf8"));
const names = named.length ? named : readdirSync(join(out, "sites")).sort();
let finished = false;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const server = spawn(process.execPath, [
  join(dirname(fileURLToPath(import.meta.url)), "serve.mjs"), join(out, "sites"), String(port),
], { stdio: ["ignore", "pipe", "inherit"] });
await new Promise((done, fail) => {
  server.stdout.once("data", done);
  server.once("close", () => fail(new Error("the server ended")));
});
server.on("close", (code, signal) => {
  if (!finished) console.error(`the server ended early: ${code ?? signal}`);
});

const profile = mkdtempSync(join(tmpdir(), "check-"));
const browser = spawn(browserPath, [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-first-run", "--window-size=1280,800",
  `--user-data-dir=${profile}`, "--host-resolver-rules=MAP *.grain.test 127.0.0.1",
  "--remote-debugging-pipe", "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

let lastId = 0;
const waiting = new Map();
let onEvent = () => {};
let rest = "";
browser.stdio[4].setEncoding("utf8").on("data", (chunk) => {
  const messages = (rest + chunk).split("\0");
  rest = messages.pop();
  for (const message of messages.map((m) => JSON.parse(m))) {
    if (!message.id) onEvent(message);
    else {
      const { done, fail } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) fail(new Error(message.error.message));
      else done(message.result);
    }
  }
});
function send(method, params = {}, sessionId = undefined) {
  const id = ++lastId;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return new Promise((done, fail) => waiting.set(id, { done, fail }));
}

// Runs in the page: the text of the marked elements, through open shadow roots.
function read() {
  const text = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const children = node.shadowRoot ? node.shadowRoot.childNodes : node.childNodes;
    return [...children].map(text).join("");
  };
  const parts = { main: "", template: "" };
  let links = 0;
  const walk = (root) => {
    for (const element of root.children) {
      const part = element.dataset?.part;
      if (part) parts[part] += text(element);
      if (element.localName === "a" && element.getAttribute("href")?.startsWith("/")) links++;
      if (element.shadowRoot) walk(element.shadowRoot);
      walk(element);
    }
  };
  walk(document);
  return { ...parts, links, title: document.title };
}

// Follows the link to a path by a real click event, in shadow roots too.
function click(href) {
  const find = (root) => {
    for (const element of root.querySelectorAll("*")) {
      const found = element.localName === "a" && element.getAttribute("href") === href
        ? element : element.shadowRoot && find(element.shadowRoot);
      if (found) return found;
    }
  };
  window.sameDocument = true;
  find(document).click();
}

// Loads a page, or with a start page: loads that one and clicks to the other.
async function load(origin, path, { scroll = false, from } = {}) {
  const { browserContextId } = await send("Target.createBrowserContext");
  const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const requests = [];
  const errors = [];
  onEvent = ({ method, params, sessionId: sender }) => {
    if (sender !== sessionId) return;
    if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("data:"))
      requests.push(params.request.url);
    if (method === "Network.responseReceived" && params.response.status >= 400 && !params.response.url.endsWith("/favicon.ico"))
      errors.push(`${params.response.status} for ${params.response.url}`);
    if (method === "Runtime.exceptionThrown")
      errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type))
      errors.push(params.args.map((a) => a.value ?? a.description).join(" "));
  };
  await send("Network.enable", {}, sessionId);
  await send("Runtime.enable", {}, sessionId);
  const evaluate = async (expression) =>
    (await send("Runtime.evaluate", { expression, returnByValue: true }, sessionId)).result.value;
  // Waits until nothing has changed for 700 ms and something is there, 6 s at most.
  const settle = async () => {
    let seen, page;
    for (let quiet = 0, i = 0; i < 60 && quiet < 7; i++) {
      await sleep(100);
      if (scroll && i >= 5 && i % 2) await evaluate("scrollBy(0, 300)");
      page = await evaluate(`(${read})()`);
      const now = JSON.stringify(page) + requests.length;
      quiet = now === seen && page?.main && (!scroll || i > 25) ? quiet + 1 : 0;
      seen = now;
    }
    return page;
  };
  await send("Page.navigate", { url: origin + (from ?? path) }, sessionId);
  let page = await settle();
  if (from) {
    await evaluate(`(${click})(${JSON.stringify(path)})`);
    page = await settle();
  }
  const sameDocument = Boolean(await evaluate("window.sameDocument"));
  await send("Target.disposeBrowserContext", { browserContextId });
  return { ...page, requests, errors, sameDocument };
}

// node:http and not fetch: the name is not in any resolver.
const raw = (host, path) => new Promise((done, fail) =>
  get({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (c) => (body += c)).on("end", () => done(body));
  }).on("error", fail));

const bare = (text) => text.replace(/\s+/g, "");

for (const name of names) {
  const host = `${name}.grain.test:${port}`;
  const origin = `http://${host}`;
  const faults = [];
  const counts = new Set();
  const compare = (page, found, how) => {
    const fault = (text) => faults.push(`${page.path}${how}: ${text}`);
    for (const part of ["main", "template"])
      if (bare(found[part] ?? "") !== bare(page[part]))
        fault(`${part} differs: ${JSON.stringify(found[part]?.slice(0, 120))}`);
    if (found.title !== page.title) fault(`title is ${JSON.stringify(found.title)}`);
    if (found.links < 13) fault(`only ${found.links} links`);
    for (const error of found.errors) fault(`error: ${error}`);
    for (const url of found.requests) if (!url.startsWith(`${origin}/`)) fault(`request to ${url}`);
  };
  for (const page of truth) {
    const found = await load(origin, page.path, { scroll: page.path.startsWith("/categories/") });
    compare(page, found, "");
    const requests = found.requests.filter((url) => !url.endsWith("/favicon.ico"));
    counts.add(requests.length);
    if (process.env.VERBOSE) console.log([name, page.path, ...requests].join("\n    "));
    const html = await raw(host, page.path);
    const plain = bare(html.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replace(/<[^>]*>/g, ""));
    const inHtml = [page.main, page.template].some((text) => plain.includes(bare(text.slice(-60))));
    if (inHtml !== fullHtml.has(name)) faults.push(`${page.path}: text in the raw HTML: ${inHtml}`);
  }
  // Two ways that a click can go: to another route, and to another page of the same one.
  for (const [from, path] of [["/", "/articles/bread-for-keeping"], ["/articles/bread-for-keeping", "/articles/rye-on-poor-soil"]]) {
    const found = await load(origin, path, { from });
    compare(truth.find((page) => page.path === path), found, ` from ${from}`);
    if (found.sameDocument === fullLoads.has(name))
      faults.push(`${path} from ${from}: same document: ${found.sameDocument}`);
  }
  const requests = [...counts].sort((a, b) => a - b).join(" or ");
  console.log(`${name}: ${faults.length ? "FAULTS" : "ok"}, ${truth.length} pages and 2 clicks, ${requests} requests for a page`);
  for (const fault of faults) console.log(`  ${fault}`);
  if (faults.length) process.exitCode = 1;
}

await send("Browser.close").catch(() => {});
finished = true;
server.kill();
await sleep(300);
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
