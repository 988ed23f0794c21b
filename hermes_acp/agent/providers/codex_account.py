"""Which ChatGPT account a request to the Codex back end is for: its access token says so."""

from __future__ import annotations

import base64
import json
from typing import Any

CODEX_HOST = "chatgpt.com"

_CLAIM = "https://api.openai.com/auth"


def account_headers(token: str) -> dict[str, str]:
    """The header that names the account of an access token (a JWT, RFC 7519); none when it tells no account."""
    claims = _claims(token).get(_CLAIM)
    account = claims.get("chatgpt_account_id") if isinstance(claims, dict) else None
    usable = isinstance(account, str) and account.isascii() and account.isprintable()
    return {"ChatGPT-Account-Id": account} if account and usable else {}


def _claims(token: str) -> dict[str, Any]:
    _, _, rest = token.partition(".")
    payload = rest.partition(".")[0]
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}
