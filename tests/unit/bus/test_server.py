"""The text that nats-server is started with."""

from __future__ import annotations

from pathlib import Path

from bus.nats.keys import derived, new
from bus.nats.server import accounts_block, configuration, find_binary, read_ports
from bus.nats.transport import hide_credentials
from bus.permissions import Grant

KEY = derived("secret", "purpose")
GET = "$JS.API.DIRECT.GET.KV_b"


def test_no_secret_stands_in_the_configuration(tmp_path: Path) -> None:
    users = {"a": (KEY, Grant(("b",), ("c",)))}

    text = configuration(port=4222, folder=tmp_path, users=users, max_store_bytes=7, sync_ms=1_500)

    assert KEY.public in text
    assert KEY.store.public in text
    assert KEY.seed not in text
    assert KEY.store.seed not in text
    assert 'listen: "127.0.0.1:4222"' in text
    assert "max_file_store: 7" in text
    assert 'sync_interval: "1500ms"' in text
    assert str(tmp_path / "jetstream") in text


def test_a_user_has_its_grant_and_reaches_what_is_kept_from_an_account_of_its_own() -> None:
    kept = Grant(("x.*",), ("y", "z.>"), ("y",), ("$KV.b.>", "$JS.API.DIRECT.GET.KV_b"), ("KV_b.>",))
    owner = Grant((">",), (">",), uses=(">",), hears=(">",))

    assert accounts_block({"boss": ("UBOSS", "USTORE", owner), "a.b": ("UKEY", "UOWN", kept)}).splitlines() == [
        "accounts {",
        "  BUS {",
        "    users: [",
        "      # boss",
        "      { nkey: UBOSS, permissions: {",
        '        publish: { allow: [">"] }',
        '        subscribe: { allow: [">"] }',
        "      } }",
        "      # a.b",
        "      { nkey: UKEY, permissions: {",
        '        publish: { allow: ["x.*", "_INBOX.boss.>", "_INBOX.*.*.figures.*"] }',
        '        subscribe: { allow: ["y", "z.>"] }',
        "      } }",
        "    ]",
        "  }",
        "  STORE {",
        "    jetstream: enabled",
        "    users: [",
        "      # boss",
        "      { nkey: USTORE, permissions: {",
        '        publish: { allow: [">"] }',
        '        subscribe: { allow: [">"] }',
        "      } }",
        "    ]",
        '    mappings: { "$JS.store.API.>": "$JS.API.>" }',
        "    exports: [",
        '      { service: "$JS.API.DIRECT.GET.KV_b", response: stream }',
        '      { service: "$KV.b.>" }',
        '      { stream: "KV_b.>" }',
        "    ]",
        "  }",
        "  STORE_a-b {",
        "    users: [",
        "      # a.b",
        "      { nkey: UOWN, permissions: {",
        '        publish: { allow: ["$KV.b.>", "$JS.store.API.DIRECT.GET.KV_b"] }',
        '        subscribe: { allow: ["_INBOX.a-b.>", "KV_b.>"] }',
        "      } }",
        "    ]",
        "    imports: [",
        '      { service: { account: STORE, subject: "$KV.b.>" } }',
        f'      {{ service: {{ account: STORE, subject: "{GET}" }}, to: "$JS.store.API.DIRECT.GET.KV_b" }}',
        '      { stream: { account: STORE, subject: "KV_b.>" } }',
        "    ]",
        "  }",
        "}",
    ]


def test_ports_are_read_when_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "nats-server_1.ports").write_text('{"nats": ["nats://127.0.0.1:4000"]}')
    (tmp_path / "nats-server_2.ports").write_text('{"nats": [')
    (tmp_path / "nats-server_3.ports").write_text('{"nats": []}')

    assert [read_ports(tmp_path, pid) for pid in (1, 2, 3, 4)] == ["nats://127.0.0.1:4000", None, None, None]


def test_keys_are_shown_by_their_public_half() -> None:
    assert repr(KEY) == f"NKey({KEY.public})"
    assert KEY.seed.startswith("SU")
    assert KEY.public.startswith("U")


def test_keys_are_derived_for_a_purpose() -> None:
    assert derived("secret", "purpose") == KEY
    assert derived("secret", "other") != KEY
    assert derived("other", "purpose") != KEY
    assert new() != new()


def test_the_binary_is_that_of_the_wheel() -> None:
    binary = find_binary()

    assert binary is not None
    assert binary.name.startswith("nats-server")


def test_passwords_are_hidden() -> None:
    assert hide_credentials("nats://u:p@a:1,tls://t@b:2,c:3") == "nats://a:1,tls://b:2,c:3"
