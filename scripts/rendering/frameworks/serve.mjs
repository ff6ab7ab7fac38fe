// node serve.mjs SITES PORT [DELAY_MS]
// Serves SITES/NAME to requests for the host NAME.anything, as single page hosting does.
// With LOG=file in the environment, each request is appended to that file as a JSON line.
import { appendFileSync, createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, resolve } from "node:path";

const [sitesArgument, portArgument, delayArgument = "0"] = process.argv.slice(2);
if (!sitesArgument || !portArgument) {
  console.error("usage: node serve.mjs SITES PORT [DELAY_MS]");
  process.exit(2);
}
const sites = resolve(sitesArgument);
const delay = Number(delayArgument);
const log = process.env.LOG;

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

const now = () => performance.timeOrigin + performance.now();
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

// The file that answers a path, or nothing.
function find(site, path) {
  const file = join(site, path);
  if (file !== site && !file.startsWith(site + "/")) return;
  if (!path.endsWith("/") && isFile(file)) return file;
  if (extname(path)) return;
  const bare = file.replace(/\/$/, "");
  return [join(file, "index.html"), `${bare}.html`, join(site, "index.html")].find(isFile);
}

function answer(request, response) {
  const name = (request.headers.host ?? "").split(/[.:]/)[0].toLowerCase();
  const end = (status, type, text) => {
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) });
    response.end(request.method === "HEAD" ? undefined : text);
  };
  if (request.method !== "GET" && request.method !== "HEAD") return end(405, types[".txt"], "method not allowed\n");
  let path;
  try {
    path = decodeURIComponent(request.url.split("?")[0]);
  } catch {
    return end(400, types[".txt"], "bad path\n");
  }
  if (path.includes("\0")) return end(400, types[".txt"], "bad path\n");
  if (path === "/robots.txt") return end(200, types[".txt"], "User-agent: *\nAllow: /\n");
  const file = /^[a-z0-9-]+$/.test(name) && find(join(sites, name), path);
  if (!file) return end(404, types[".txt"], "not found\n");
  response.writeHead(200, {
    "content-type": types[extname(file)] ?? "application/octet-stream",
    "content-length": statSync(file).size,
  });
  if (request.method === "HEAD") return response.end();
  createReadStream(file).on("error", () => response.destroy()).pipe(response);
}

const server = createServer((request, response) => {
  const at = now();
  if (log) {
    response.on("close", () => appendFileSync(log, JSON.stringify({
      at,
      host: request.headers.host ?? "",
      path: request.url,
      ended_at: now(),
      status: response.headersSent ? response.statusCode : 0,
      user_agent: request.headers["user-agent"] ?? "",
    }) + "\n"));
  }
  if (delay > 0) setTimeout(answer, delay, request, response);
  else answer(request, response);
});

server.listen(Number(portArgument), "127.0.0.1", () =>
  console.log(`serving ${sites} at port ${server.address().port}`));

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
