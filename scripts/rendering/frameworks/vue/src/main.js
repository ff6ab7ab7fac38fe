import { createApp } from "vue";
import { createRouter, createWebHistory } from "vue-router";
import App from "./App.vue";
import "./shared/style.css";

const PageView = () => import("./PageView.vue");
const router = createRouter({
  history: createWebHistory(),
  routes: [
    // An article is asked for only after this many milliseconds.
    { path: "/articles/:slug", component: PageView, props: { delay: 1500 } },
    { path: "/:rest(.*)*", component: PageView },
  ],
});

createApp(App).use(router).mount("#root");
