import { Component, input } from "@angular/core";
import { RouterLink } from "@angular/router";
import type { Block } from "./types";

@Component({
  selector: "app-block",
  imports: [RouterLink],
  template: `
    @let b = block();
    @switch (b.type) {
      @case ("h2") { <h2>{{ b.text }}</h2> }
      @case ("ul") {
        <ul>
          @for (item of b.items; track item) { <li>{{ item }}</li> }
        </ul>
      }
      @case ("table") {
        <table>
          <thead>
            <tr>@for (cell of b.head; track cell) { <th>{{ cell }}</th> }</tr>
          </thead>
          <tbody>
            @for (row of b.rows; track row) {
              <tr>@for (cell of row; track cell) { <td>{{ cell }}</td> }</tr>
            }
          </tbody>
        </table>
      }
      @case ("teasers") {
        <ul class="teasers">
          @for (item of b.items; track item.href) {
            <li>
              <h3><a [routerLink]="item.href">{{ item.title }}</a></h3>
              <p>{{ item.teaser }}</p>
            </li>
          }
        </ul>
      }
      @default { <p>{{ b.text }}</p> }
    }
  `,
})
export class ContentBlock {
  readonly block = input.required<Block>();
}
