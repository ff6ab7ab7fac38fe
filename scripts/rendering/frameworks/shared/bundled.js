// The same as load.js, with all data in the script.
import pages from "./all.json";
import { notFound } from "./page.js";

export const findPage = (path) => pages[path] ?? notFound;
