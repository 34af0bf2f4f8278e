// Long names in the sidebars break between their words.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".bd-links a, .bd-toc a")) {
    const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      text.data = text.data.replace(/[_.](?=\w)|[a-z](?=[A-Z])/g, "$&\u200b");
    }
  }
});
