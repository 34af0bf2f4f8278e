// Long names in titles and sidebars break between their words.
document.addEventListener("DOMContentLoaded", () => {
  const texts = [];
  for (const name of document.querySelectorAll(".bd-article h1, .bd-links a, .bd-toc a")) {
    const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode);
  }
  for (const text of texts) {
    const words = text.data.split(/(?<=[_.])(?=\w)|(?<=[a-z])(?=[A-Z])/);
    text.replaceWith(...words.flatMap((word) => [document.createElement("wbr"), word]).slice(1));
  }
});
