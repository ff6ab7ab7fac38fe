// The inspector in Chromium: views, keys, accessibility, hostile pages, screenshots.
//
//   node inspector.mjs demo ADDRESS       views and keys of the demo, labels; screenshots are in shots/
//   node inspector.mjs hostile ADDRESS    pages that try to run or to ask
//   node inspector.mjs live ADDRESS       run 1 while it works
//   node inspector.mjs sites ADDRESS      each site of any database, with a page of it in every view
//
// Ends with 1 at the first thing that is wrong.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [what, address] = process.argv.slice(2);
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGE = `/page?url=${encodeURIComponent("http://menus.demo.test/1/2.html")}`;
const VIEWS = ["/", "/run?id=1", "/sites", "/sites?q=nothing-like-it", "/site?host=menus.demo.test", "/near?host=twins.demo.test", "/search?q=valley", PAGE.replace("/page", "/label"), PAGE,
  `${PAGE}&view=beside`, `${PAGE}&view=markdown`, `${PAGE}&view=diff`, `${PAGE}&view=design`, "/try"];

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  const all = { demo: [eachView, keys, pasted, labels], hostile: [hostilePages], live: [liveRun], sites: [eachSite] };
  for (const check of all[what]) await check();
} finally {
  await browser.close();
}

/** Every view, light and dark, in three widths: no serious finding of axe, no error, nothing wider than the window. */
async function eachView() {
  mkdirSync("shots", { recursive: true });
  let checked = 0;
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1280, 1920]) {
      const { context, page, errors } = await watched({ colorScheme, viewport: { width, height: 900 } });
      for (const [number, path] of VIEWS.entries()) {
        await page.goto(`http://${address}${path}`, { waitUntil: "load" });
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wider <= 0, `${path}: ${wider} px wider than ${width}`);
        await accessible(page, `${path}, ${colorScheme}`);
        await page.screenshot({ path: `shots/${number}-${width}-${colorScheme}.png`, fullPage: true });
        checked += 1;
      }
      assert.deepEqual(errors, []);
      await context.close();
    }
  }
  console.log(`${checked} views without a serious finding of axe`);
}

/** The whole way by the keyboard: the search, a site, a page, its views, the next page. */
async function keys() {
  const page = await browser.newPage();
  await page.goto(`http://${address}/`);
  await page.keyboard.press("/");
  await page.keyboard.type("menus.demo.test");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/site\?host=menus/);
  await page.getByRole("link", { name: "/1/2.html" }).first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/page\?/);
  const shown = async () => {
    const frame = page.frames().find((one) => one.url().includes("/frame?"));
    return (await frame.locator("body").innerText()).trim();
  };
  for (const [key, view, has, lacks] of [
    ["2", "template", "Cookbook", "The recent valley"],
    ["3", "main", "The recent valley", "Cookbook"],
    ["1", "fetched", "Cookbook", "nothing"],
    ["4", "overlay", "Imprint", "nothing"],
  ]) {
    await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`view=${view}`));
    await page.waitForLoadState("load");
    const text = await shown();
    assert.ok(text.includes(has) && !text.includes(lacks), `${view}: ${text}`);
  }
  const evidence = await page.frames().find((one) => one.url().includes("/frame?")).locator("h1 span").getAttribute("title");
  assert.match(evidence, /main content · site_model: on \d of 8 training pages/);
  await page.keyboard.press("j");
  await page.waitForURL(/1%2F3\.html/);
  await page.keyboard.press("k");
  await page.waitForURL(/1%2F2\.html/);
  await page.close();
  console.log("keys: search, views 1 to 4, j and k");
}

/** The counts of a run rise while it works, without a key or a click. */
async function liveRun() {
  const page = await browser.newPage();
  await page.goto(`http://${address}/run?id=1`);
  const shown = async () => Number((await page.locator("[data-count=requests]").innerText()).replaceAll(",", ""));
  const first = await shown();
  await page.waitForFunction((n) => Number(document.querySelector("[data-count=requests]").innerText.replaceAll(",", "")) > n, first);
  console.log(`live: ${first} requests, then ${await shown()}`);
  await page.close();
}

/** Each site and its first page in every view: no error, no serious finding of axe, no policy broken. */
async function eachSite() {
  const { context, page, errors } = await watched({ viewport: { width: 1280, height: 900 } });
  let [n, next] = [0, ""];
  do {
    const part = await (await context.request.get(`http://${address}/api/sites?${next}`)).json();
    next = part.next;
    for (const { host } of part.sites) {
      const site = await (await context.request.get(`http://${address}/api/site?host=${host}`)).json();
      const paths = [`/site?host=${host}`, `/near?host=${host}`];
      for (const { url } of site.pages.slice(0, 1)) {
        const of = `url=${encodeURIComponent(url)}`;
        const views = ["fetched", "template", "main", "overlay", "beside", "markdown", "text", "source", "diff"];
        paths.push(...views.map((view) => `/page?${of}&view=${view}`), `/label?${of}`);
      }
      for (const path of paths) {
        await page.goto(`http://${address}${path}`, { waitUntil: "load" });
        if (!path.includes("view=") || path.includes("view=overlay")) await accessible(page, path);
        n += 1;
      }
      assert.deepEqual(errors, [], host);
    }
  } while (next);
  await context.close();
  assert.ok(n > 0, "no site is shown");
  console.log(`${n} views of sites: no error, no serious finding of axe, no policy broken`);
}

/** A page whose errors, and whose breaks of a policy, in its frames too, are collected. */
async function watched(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const session = await context.newCDPSession(page);
  await session.send("Audits.enable");
  session.on("Audits.issueAdded", ({ issue }) => {
    if (issue.code === "ContentSecurityPolicyIssue") errors.push(JSON.stringify(issue.details));
  });
  return { context, page, errors };
}

/** No serious finding of axe. Its code comes past the policy of the page. */
async function accessible(page, path) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await axe.run(document, { iframes: false })).violations);
  const serious = found.filter((finding) => ["serious", "critical"].includes(finding.impact));
  assert.deepEqual(serious.map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.html).join(" ")}`), [], path);
}

/** A page that is pasted. */
async function pasted() {
  const page = await browser.newPage();
  await page.goto(`http://${address}/try`);
  await page.getByLabel("HTML").fill(`<nav>Guide</nav><p>${"Rye is a grass, and it is grown as a grain. ".repeat(9)}</p>`);
  await page.getByRole("button", { name: "Clean" }).click();
  await page.waitForSelector("pre.source");
  assert.match(await page.locator("pre.source").innerText(), /Rye is a grass/);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  const color = await frame.locator("p span").first().evaluate((span) => getComputedStyle(span).textDecorationLine);
  assert.equal(color, "underline", "the overlay has its colors");
  await page.close();
}

/** A block is labeled by a click and by a key; what is saved is shown again. */
async function labels() {
  const page = await browser.newPage();
  const path = `http://${address}${PAGE.replace("/page", "/label")}`;
  await page.goto(path);
  const block = page.locator("form.label li", { hasText: "The recent valley" }).first();
  await block.getByLabel("neither").check();
  assert.equal(await block.getAttribute("data-kind"), "neither");
  await page.locator("form.label li").nth(0).locator("legend").click();
  await page.keyboard.press("m");
  assert.equal(await page.locator("form.label li").nth(0).getAttribute("data-kind"), "main");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForSelector("[role=status]");
  assert.match(await page.locator("[role=status]").innerText(), /Saved; \d+ labeled pages.*2 blocks differ/);
  await page.goto(path);
  assert.equal(await block.getAttribute("data-kind"), "neither");
  await page.close();
  console.log("labels: by click and by key, saved and shown again");
}

/** No vector runs, and no request leaves for another address. */
async function hostilePages() {
  const { context, page, errors: wrong } = await watched({});
  // In the design of its site a page may have styles that the policy forbids to load: the browser tells of each.
  const design = await context.newPage();
  for (const opened of [page, design]) {
    // Chromium also tells of requests that the policy has stopped. The test looks at the server that they would ask.
    opened.on(opened === design ? "response" : "request", (asked) => {
      const { host, protocol } = new URL(asked.url());
      if (host !== address && !["data:", "about:"].includes(protocol)) wrong.push(`request ${asked.url()}`);
    });
    opened.on("dialog", (dialog) => { wrong.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
    opened.on("popup", () => wrong.push("popup"));
  }
  let after = "";
  let n = 0;
  for (;;) {
    const part = await (await context.request.get(`http://${address}/api/site?host=hostile.test&after=${encodeURIComponent(after)}`)).json();
    for (const { url } of part.pages) {
      await page.goto(`http://${address}/page?url=${encodeURIComponent(url)}&view=beside`, { waitUntil: "load" });
      const title = await page.title();
      assert.notEqual(title, "x", `${url} has changed the title`);
      await design.goto(`http://${address}/page?url=${encodeURIComponent(url)}&view=design`, { waitUntil: "load" });
      n += 1;
    }
    if (!part.next) break;
    after = part.next;
  }
  assert.ok(n >= 200, `${n} pages`);
  assert.deepEqual(wrong, []);
  await context.close();
  console.log(`${n} hostile pages: nothing ran, no request left, no policy broken`);
}
