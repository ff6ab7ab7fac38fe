import { createWebHistory } from "vue-router";
import { makeApp } from "./app.js";
import "./shared/style.css";

const first = JSON.parse(document.getElementById("page").textContent);
const { app, router } = makeApp(first, createWebHistory());
router.isReady().then(() => app.mount("#root"));
