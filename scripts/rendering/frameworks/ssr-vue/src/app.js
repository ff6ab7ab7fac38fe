import { createSSRApp, shallowReactive } from "vue";
import { createRouter } from "vue-router";
import App from "./App.vue";
import PageView from "./PageView.vue";
import { loadPage } from "./shared/load.js";

// The first page comes with the HTML, those after it are fetched.
export function makeApp(firstPage, history) {
  const state = shallowReactive({ page: firstPage });
  const router = createRouter({
    history,
    routes: [{ path: "/:rest(.*)*", component: PageView }],
  });
  router.beforeResolve(async (to) => {
    if (to.path !== state.page.path) state.page = await loadPage(to.path);
  });
  const app = createSSRApp(App);
  app.use(router).provide("state", state);
  return { app, router };
}
