import { loadPage } from "../../shared/load.js";

export const load = async ({ url }) => ({ page: await loadPage(url.pathname) });
