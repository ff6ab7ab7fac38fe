import { Shell } from "../parts/Shell";
import "../shared/style.css";

// No metadata: React moves the title element of PageView into the head.

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body><Shell>{children}</Shell></body>
    </html>
  );
}
