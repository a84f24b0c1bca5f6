// The table of contents at the right of a page, for pkgdown.js; in place of a script that no
// package registry has.
window.Toc = {
  init: function (options) {
    var $ = window.jQuery, $nav = options.$nav, $list = $("<ul class='nav flex-column'></ul>");
    if (!$nav.length) return;
    $nav.attr("data-toggle", "toc").append($list);
    options.$scope.filter("h2, h3").each(function () {
      var id = this.id || $(this).closest("[id]").attr("id");
      if (!id || $(this).parents("#toc").length) return;
      var text = $(this).clone().children(".anchor").remove().end().text().trim();
      $("<li></li>").append($("<a class='nav-link'></a>").attr("href", "#" + id).text(text)
        .css("padding-left", this.tagName === "H3" ? "2rem" : "1rem")).appendTo($list);
    });
  }
};
