// A second press while the first is on its way would only confuse; the server takes either once.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", () => {
    setTimeout(() => {
      for (const button of form.querySelectorAll("button")) {
        button.disabled = true;
        button.setAttribute("aria-busy", "true");
      }
    });
  });
}
// Coming back by the browser's history shows the page as it was left: open the buttons again.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
