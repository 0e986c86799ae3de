"""All verbs of `weft`."""

from __future__ import annotations

from actors.cli.answers import ask, pull, summarize
from actors.cli.approvals import app as approvals
from actors.cli.artifact import artifact
from actors.cli.browse import browse
from actors.cli.collections import app as collections
from actors.cli.conversations import conversations
from actors.cli.crawl import crawl, map_site
from actors.cli.do import do
from actors.cli.doctor import doctor
from actors.cli.extension import extension
from actors.cli.extract import extract
from actors.cli.flows import app as flows
from actors.cli.keys import app as keys
from actors.cli.nats import nats
from actors.cli.patterns import app as patterns
from actors.cli.providers import app as providers
from actors.cli.replay import export, replay
from actors.cli.report import report
from actors.cli.root import new_app
from actors.cli.routes import app as routes
from actors.cli.runs import app as runs
from actors.cli.runs import run as run_template
from actors.cli.runs import templates
from actors.cli.sessions import app as sessions
from actors.cli.tap import schema, tap
from actors.cli.texts import search, sources, texts, transform
from actors.cli.tools import tool, tools
from actors.cli.up import mcp, status, up

app = new_app()
for _verb in (up, browse, extract):
    app.command(no_args_is_help=_verb is browse)(_verb)
for _question in (summarize, ask, pull):
    app.command(no_args_is_help=True)(_question)
app.command(no_args_is_help=True)(do)
app.command()(conversations)
app.command()(export)
app.command(no_args_is_help=True)(replay)
app.command(no_args_is_help=True)(report)
app.command(no_args_is_help=True)(search)
app.command()(transform)
app.command()(tools)
app.command(no_args_is_help=True)(tool)
app.command()(templates)
app.command("run", no_args_is_help=True)(run_template)
app.command(no_args_is_help=True)(crawl)
app.command("map", no_args_is_help=True)(map_site)
app.command(no_args_is_help=True)(artifact)
app.command()(extension)
for _other in (status, tap, mcp, doctor, schema, nats):
    app.command()(_other)
app.add_typer(collections, name="collections", help="Collect pages and notes, and look after what was read.")
app.add_typer(sources, name="sources", help="Print what was read of a source, read it anew, delete it.")
app.add_typer(texts, name="texts", help="List, print, share and delete the texts that you keep.")
app.add_typer(approvals, name="approvals", help="List the calls that wait for you, allow or deny them.")
app.add_typer(runs, name="runs", help="List runs, look at one, stop it, go on with it.")
app.add_typer(flows, name="flows", help="Record what is done in a browser, and do it again.")
app.add_typer(routes, name="routes", help="List which models are asked, say so, and tell why.")
app.add_typer(patterns, name="patterns", help="List, check, forget and exchange what was learned of APIs.")
app.add_typer(keys, name="keys", help="Give out, list and revoke keys.")
app.add_typer(providers, name="providers", help="Store, list, test and remove keys of models.")
app.add_typer(sessions, name="sessions", help="List, import, renew and forget saved logins.")
