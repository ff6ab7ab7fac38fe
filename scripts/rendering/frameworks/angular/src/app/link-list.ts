import { Component, input } from "@angular/core";
import { RouterLink } from "@angular/router";
import type { Link } from "./types";

@Component({
  selector: "app-links",
  imports: [RouterLink],
  template: `
    <ul>
      @for (item of items(); track item.href) {
        <li><a [routerLink]="item.href">{{ item.title }}</a></li>
      }
    </ul>
  `,
})
export class LinkList {
  readonly items = input.required<Link[]>();
}
