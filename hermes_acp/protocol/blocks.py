"""The content blocks of a prompt, as an editor sends them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Tag

from hermes_acp.protocol.params import Hint, Params


def _number_or_none(value: Any) -> Any:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class TextBlock(Params):
    type: Literal["text"]
    text: str


class ImageBlock(Params):
    type: Literal["image"]
    data: str
    mime_type: str
    uri: Hint = None


class AudioBlock(Params):
    type: Literal["audio"]
    data: str
    mime_type: str


class ResourceLinkBlock(Params):
    """A file or page that the person pointed at; its content is not part of the prompt."""

    type: Literal["resource_link"]
    name: str
    uri: str
    title: Hint = None
    description: Hint = None
    mime_type: Hint = None
    size: Annotated[int | None, BeforeValidator(_number_or_none)] = None


class TextResource(Params):
    uri: str
    text: str
    mime_type: Hint = None


class BlobResource(Params):
    """Bytes in base64."""

    uri: str
    blob: str
    mime_type: Hint = None


def _resource_tag(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((name for name in ("text", "blob") if name in value), None)


Resource = Annotated[
    Annotated[TextResource, Tag("text")] | Annotated[BlobResource, Tag("blob")],
    Discriminator(
        _resource_tag, custom_error_type="resource", custom_error_message="a resource needs a text or a blob"
    ),
]


class ResourceBlock(Params):
    """A resource whose content is part of the prompt."""

    type: Literal["resource"]
    resource: Resource


class UnknownBlock(Params):
    """A block of a type that is not known here, kept as it came."""

    type: str


_BLOCK_TYPES = ("text", "image", "audio", "resource_link", "resource")


def _block_tag(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return None
    return kind if kind in _BLOCK_TYPES else "unknown"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[AudioBlock, Tag("audio")]
    | Annotated[ResourceLinkBlock, Tag("resource_link")]
    | Annotated[ResourceBlock, Tag("resource")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(
        _block_tag, custom_error_type="block", custom_error_message="a content block must be an object with a type"
    ),
]
