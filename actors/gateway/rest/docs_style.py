"""How the page of the endpoints looks, in light and in dark."""

from __future__ import annotations

STYLE = """\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--link:#0757ba;
--get:#116329;--post:#0757ba;--delete:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b3;--paper:#0d1117;--panel:#161b22;--line:#30363d;
--link:#6cb6ff;--get:#56d364;--post:#6cb6ff;--delete:#ff8182}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:76rem;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,sans-serif}
h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em}h1{margin-top:0}small{color:var(--soft);font-weight:400}
a{color:var(--link)}p{margin:.5em 0;max-width:52rem}
code,pre{font:.9em/1.5 ui-monospace,monospace}code{overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow:auto}
nav ul{list-style:none;padding:.8rem 1rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;
columns:22rem}
article{border-top:1px solid var(--line);padding-bottom:1rem}
.method{display:inline-block;min-width:4.2em;font:700 .8em ui-monospace,monospace;color:var(--soft)}
.get{color:var(--get)}.post{color:var(--post)}.delete{color:var(--delete)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92em}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
summary{cursor:pointer;padding:.3rem 0}div:target{outline:2px solid var(--link);outline-offset:4px}
"""
