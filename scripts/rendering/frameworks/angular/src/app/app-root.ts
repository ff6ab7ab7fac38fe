import { Component } from "@angular/core";
import { RouterLink, RouterOutlet } from "@angular/router";
import { site } from "../shared/page.js";
import { LinkList } from "./link-list";

@Component({
  selector: "app-root",
  imports: [LinkList, RouterLink, RouterOutlet],
  template: `
    <header data-part="template">
      <a routerLink="/">{{ site.name }}</a>
      <p>{{ site.tagline }}</p>
    </header>
    <nav data-part="template"><app-links [items]="site.nav" /></nav>
    <div class="columns">
      <div class="content"><router-outlet /></div>
      <aside data-part="template">
        <h2>{{ site.popularTitle }}</h2>
        <app-links [items]="site.popular" />
      </aside>
    </div>
    <footer data-part="template">
      @for (line of site.footer; track line) {
        <p>{{ line }}</p>
      }
    </footer>
  `,
})
export class AppRoot {
  readonly site = site;
}
