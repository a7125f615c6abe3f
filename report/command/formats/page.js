"use strict";
(function () {
  var form = document.getElementById("filters");
  var cards = Array.prototype.slice.call(document.querySelectorAll(".card"));
  var texts = cards.map(function (card) { return card.textContent.toLowerCase(); });
  var shown = document.getElementById("shown");
  function apply() {
    var words = form.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    var count = 0;
    cards.forEach(function (card, index) {
      var fits = (!form.code.value || card.dataset.code === form.code.value) &&
        (!form.certainty.value || card.dataset.certainty === form.certainty.value) &&
        words.every(function (word) { return texts[index].indexOf(word) >= 0; });
      card.hidden = !fits;
      count += fits ? 1 : 0;
    });
    shown.textContent = count + " of " + cards.length + " shown";
  }
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
  apply();
}());
