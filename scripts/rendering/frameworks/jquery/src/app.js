// No bundler and no modules: jQuery puts every element together by hand.
// The template texts come from the server as well.
$(function () {
  var site, lists;

  function anchor(item) {
    return $("<a>", { href: item.href, text: item.title });
  }

  function each(name, items, fill) {
    return $.map(items, function (item) {
      var element = $(document.createElement(name));
      return (typeof item === "string" ? element.text(item) : element.append(fill(item))).get();
    });
  }

  function links(items) {
    return $("<ul>").append(each("li", items, anchor));
  }

  var kinds = {
    p: function (b) { return $("<p>").text(b.text); },
    h2: function (b) { return $("<h2>").text(b.text); },
    ul: function (b) { return $("<ul>").append(each("li", b.items)); },
    table: function (b) {
      var head = $("<thead>").append($("<tr>").append(each("th", b.head)));
      var rows = $.map(b.rows, function (row) { return $("<tr>").append(each("td", row)).get(); });
      return $("<table>").append(head, $("<tbody>").append(rows));
    },
    teasers: function (b) {
      return $("<ul class=teasers>").append(each("li", b.items, function (item) {
        return [$("<h3>").append(anchor(item)), $("<p>").text(item.teaser)];
      }));
    },
  };

  function part(name, kind) {
    return $(document.createElement(name)).attr("data-part", kind || "template");
  }

  function showShell() {
    $("body").append(
      part("header").append(anchor({ href: "/", title: site.name }), $("<p>").text(site.tagline)),
      part("nav").append(links(site.nav)),
      $("<div class=columns>").append(
        $("<div class=content>"),
        part("aside").append($("<h2>").text(site.popularTitle), links(site.popular))
      ),
      part("footer").append(each("p", site.footer))
    );
  }

  function show(path, page) {
    if (path !== location.pathname) return;
    page = page || { title: "Page not found", blocks: [] };
    document.title = path === "/" ? site.name : page.title + " - " + site.name;
    var main = part("main", "main").append($("<h1>").text(page.title));
    if (page.byline) main.append($("<p class=byline>").text(page.byline));
    $.each(page.blocks, function (i, block) { main.append(kinds[block.type](block)); });
    $(".content").append(main);
    if (page.related) {
      $(".content").append(
        part("section").append($("<h2>").text(site.relatedTitle), links(page.related))
      );
    }
  }

  function go() {
    var path = location.pathname;
    $(".content").empty();
    if (path.startsWith("/articles/")) {
      $.getJSON("/data" + path + ".json").then(
        function (page) { show(path, page); },
        function () { show(path); }
      );
    } else {
      lists = lists || $.getJSON("/data/index.json");
      lists.then(function (all) { show(path, all[path]); });
    }
  }

  $(document).on("click", "a", function (event) {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", this.href);
    scrollTo(0, 0);
    go();
  });
  $(window).on("popstate", go);

  $.getJSON("/data/site.json").then(function (loaded) {
    site = loaded;
    showShell();
    go();
  });
});
