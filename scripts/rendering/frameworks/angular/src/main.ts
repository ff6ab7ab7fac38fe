import { provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideRouter, type Routes } from "@angular/router";
import { AppRoot } from "./app/app-root";

// The page component is a chunk of its own.
const page = () => import("./app/page-view").then((m) => m.PageView);
const routes: Routes = [
  { path: "articles/:slug", loadComponent: page },
  { path: "**", loadComponent: page },
];

bootstrapApplication(AppRoot, {
  providers: [provideZonelessChangeDetection(), provideRouter(routes)],
});
