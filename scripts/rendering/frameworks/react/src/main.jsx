import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { Shell } from "./Shell.jsx";
import "./shared/style.css";

// Each route is a chunk of its own, loaded when it is first visited.
const list = () => import("./ListPage.jsx");
const article = () => import("./ArticlePage.jsx");

const router = createBrowserRouter([
  {
    Component: Shell,
    HydrateFallback: () => null,
    children: [
      { path: "/articles/:slug", lazy: article },
      { path: "*", lazy: list },
    ],
  },
]);

createRoot(document.getElementById("root")).render(<RouterProvider router={router} />);
