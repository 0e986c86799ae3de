"""The programs behind sites: the marks that they leave, and where each has its pages as JSON. Data alone."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Convention(Struct, frozen=True):
    """Where a program has the JSON of a kind of page: both below the origin; `page` `""`: of no page.

    `api` begins with `{root}` where the program says itself where its API lies.
    """

    api: str
    page: str = ""


class Backend(Struct, frozen=True, kw_only=True):
    """A program, and the marks that tell it: each is enough. All of them in lower case.

    `generators` are what its `<meta name=generator>` begins with, `headers` names of headers and a piece of their
    values, `scripts` pieces of addresses of scripts. `root` is the relation of the link that says where its API lies
    and what of its address is left out; without such a link it is `usual_root`.
    """

    name: str
    generators: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    scripts: tuple[str, ...] = ()
    root: tuple[str, str] = ("", "")
    usual_root: str = ""
    apis: tuple[Convention, ...] = ()


BACKENDS: Final = (
    Backend(
        name="wordpress",
        generators=("wordpress",),
        scripts=("/wp-includes/", "/wp-content/"),
        root=("https://api.w.org/", "/"),
        usual_root="/wp-json",
        apis=(
            Convention("{root}/wp/v2/posts?slug={slug}", "/{slug}/"),
            Convention("{root}/wp/v2/posts?slug={slug}", "/{year}/{month}/{slug}/"),
            Convention("{root}/wp/v2/posts?slug={slug}", "/{year}/{month}/{day}/{slug}/"),
            Convention("{root}/wp/v2/pages?slug={slug}"),
            Convention("{root}/wp/v2/posts?per_page={per_page}&page={page}"),
            Convention("{root}/wp/v2/search?search={search}"),
        ),
    ),
    Backend(
        name="woocommerce",
        generators=("woocommerce",),
        scripts=("/plugins/woocommerce/",),
        root=("https://api.w.org/", "/"),
        usual_root="/wp-json",
        apis=(
            Convention("{root}/wc/store/v1/products?slug={slug}", "/product/{slug}/"),
            Convention("{root}/wc/store/v1/products?search={search}"),
        ),
    ),
    Backend(
        name="shopify",
        headers=(("x-shopid", ""), ("x-shopify-stage", ""), ("powered-by", "shopify")),
        scripts=("cdn.shopify.com/", "/cdn/shop/"),
        apis=(
            Convention("/products/{handle}.js", "/products/{handle}"),
            Convention("/products/{handle}.json", "/products/{handle}"),
            Convention("/collections/{handle}/products.json", "/collections/{handle}"),
            Convention("/products.json?limit={limit}&page={page}"),
            Convention("/search/suggest.json?q={q}"),
        ),
    ),
    Backend(
        name="discourse",
        generators=("discourse",),
        headers=(("x-discourse-route", ""),),
        apis=(
            Convention("/t/{slug}/{id}.json", "/t/{slug}/{id}"),
            Convention("/c/{slug}/{id}.json", "/c/{slug}/{id}"),
            Convention("/u/{name}.json", "/u/{name}"),
            Convention("/latest.json", "/latest"),
            Convention("/search.json?q={q}"),
        ),
    ),
    Backend(
        name="mediawiki",
        generators=("mediawiki",),
        root=("edituri", "/api.php"),
        usual_root="/w",
        apis=(
            Convention("{root}/rest.php/v1/page/{title}/with_html", "/wiki/{title}"),
            Convention("{root}/api.php?action=parse&format=json&formatversion=2&page={title}", "/wiki/{title}"),
            Convention("{root}/api.php?action=query&list=search&format=json&formatversion=2&srsearch={srsearch}"),
        ),
    ),
    Backend(name="ghost", generators=("ghost",), apis=(Convention("/ghost/api/admin/site/"),)),
    Backend(
        name="drupal",
        generators=("drupal",),
        headers=(("x-generator", "drupal"), ("x-drupal-cache", ""), ("x-drupal-dynamic-cache", "")),
        apis=(
            Convention("/node/{id}?_format=json", "/node/{id}"),
            Convention("/jsonapi/node/{type}/{uuid}"),
            Convention("/jsonapi/node/{type}"),
        ),
    ),
    Backend(
        name="mastodon",
        headers=(("server", "mastodon"),),
        scripts=("/packs/js/common", "/packs/common"),
        apis=(
            Convention("/api/v1/statuses/{id}", "/@{name}/{id}"),
            Convention("/api/v1/accounts/lookup?acct={name}", "/@{name}"),
            Convention("/api/v2/instance", "/about"),
        ),
    ),
    Backend(
        name="gitea",
        generators=("gitea", "forgejo"),
        scripts=("/assets/js/webcomponents.js",),
        apis=(
            Convention("/api/v1/repos/{owner}/{repo}", "/{owner}/{repo}"),
            Convention("/api/v1/repos/{owner}/{repo}/issues/{id}", "/{owner}/{repo}/issues/{id}"),
            Convention("/api/v1/repos/{owner}/{repo}/releases", "/{owner}/{repo}/releases"),
        ),
    ),
    Backend(
        name="gitlab",
        headers=(("x-gitlab-meta", ""),),
        scripts=("/assets/webpack/runtime",),
        apis=(
            Convention("/api/v4/projects/{owner}%2F{repo}", "/{owner}/{repo}"),
            Convention("/api/v4/projects/{owner}%2F{repo}/issues/{id}", "/{owner}/{repo}/-/issues/{id}"),
            Convention("/api/v4/projects/{owner}%2F{repo}/releases", "/{owner}/{repo}/-/releases"),
        ),
    ),
    Backend(
        name="peertube",
        generators=("peertube",),
        headers=(("x-powered-by", "peertube"),),
        apis=(
            Convention("/api/v1/videos/{id}", "/w/{id}"),
            Convention("/api/v1/videos/{id}", "/videos/watch/{id}"),
            Convention("/api/v1/video-channels/{name}/videos", "/c/{name}/videos"),
        ),
    ),
    Backend(
        name="lemmy",
        generators=("lemmy",),
        headers=(("x-powered-by", "lemmy"),),
        apis=(
            Convention("/api/v3/post?id={id}", "/post/{id}"),
            Convention("/api/v3/community?name={name}", "/c/{name}"),
            Convention("/api/v3/comment/list?post_id={post_id}"),
        ),
    ),
    Backend(
        name="flarum",
        generators=("flarum",),
        scripts=("/assets/forum-", "/assets/forum.js"),
        apis=(Convention("/api/discussions/{id}", "/d/{id}-{slug}"), Convention("/api/discussions")),
    ),
    Backend(
        name="nodebb",
        headers=(("x-powered-by", "nodebb"),),
        apis=(
            Convention("/api/topic/{id}/{slug}", "/topic/{id}/{slug}"),
            Convention("/api/category/{id}/{slug}", "/category/{id}/{slug}"),
        ),
    ),
    Backend(
        name="ckan",
        generators=("ckan",),
        apis=(
            Convention("/api/3/action/package_show?id={name}", "/dataset/{name}"),
            Convention("/api/3/action/organization_show?id={name}", "/organization/{name}"),
            Convention("/api/3/action/package_search?q={q}"),
        ),
    ),
    Backend(
        name="dspace",
        generators=("dspace",),
        apis=(Convention("/server/api/core/items/{id}", "/items/{id}"),),
    ),
    Backend(
        name="jenkins",
        headers=(("x-jenkins", ""),),
        apis=(Convention("/job/{name}/api/json", "/job/{name}/"),),
    ),
    Backend(
        name="squarespace",
        headers=(("server", "squarespace"),),
        scripts=("static1.squarespace.com/",),
        apis=(Convention("/{section}/{slug}?format=json", "/{section}/{slug}"),),
    ),
)
"""THE table of programs and their conventions."""
