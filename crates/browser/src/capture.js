// Counts the elements and letters of a page, and writes it as HTML with its open shadow roots.
(mostNodes, mostLetters) => {
  const roots = [], hidden = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE"]);
  let nodes = 0, letters = 0;
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!hidden.has(node.parentNode?.nodeName)) letters += node.data.trim().length;
      } else {
        nodes += 1;
        if (node.shadowRoot) {
          roots.push(node.shadowRoot);
          visit(node.shadowRoot);
        }
      }
    }
  };
  visit(document);
  const found = { nodes, letters, html: null };
  const html = document.documentElement;
  if (mostLetters === 0 || nodes > mostNodes || !html) return found;
  // What is for browsers without scripts.
  for (const root of [document, ...roots]) root.querySelectorAll("noscript").forEach((note) => note.remove());
  const empty = html.cloneNode(false).outerHTML;
  const inner = html.getHTML ? html.getHTML({ shadowRoots: roots }) : html.innerHTML;
  const text = (document.doctype ? "<!DOCTYPE html>" : "") + empty.slice(0, empty.lastIndexOf("</")) + inner + "</html>";
  found.html = text.length > mostLetters ? "" : text.toWellFormed?.() ?? text;
  return found;
}
