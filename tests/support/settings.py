"""Settings and endpoints, as a file, an environment and a command line give them."""

from hermes_acp.config import ModelConfig
from hermes_acp.settings import load_settings
from hermes_acp.settings.endpoint import Keys, resolve

ALL_KEYS = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "OPENROUTER_API_KEY": "sk-openrouter",
}


def load(home, overrides=(), **environ):
    return load_settings(dict(overrides), {"HERMES_ACP_HOME": str(home), **environ})


def endpoint(config=None, environ=None, stored=None):
    return resolve(ModelConfig(**(config or {})), Keys(environ or {}, stored or {}))
