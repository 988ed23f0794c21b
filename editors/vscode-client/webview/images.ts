/** Images that were pasted or dropped: checked, shown small, and sent with the next prompt. */

import type { Image } from "../src/chat/protocol.ts";
import { button, h } from "./h.ts";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LARGEST = 20 * 1024 * 1024;

export class Images {
  readonly element = h("div", { class: "images", role: "group", "aria-label": "Images that go with the prompt" });
  readonly #refused: (reason: string) => void;
  #images: Image[] = [];

  constructor(refused: (reason: string) => void) {
    this.#refused = refused;
    this.element.hidden = true;
  }

  /** Takes the images of a paste or drop; whether there were any. */
  take(data: DataTransfer | null, wanted: boolean): boolean {
    const files = [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    if (files.length && !wanted) this.#refused("This agent takes no images.");
    else for (const file of files) void this.#add(file);
    return files.length > 0;
  }

  /** All of them, and none is left. */
  send(): Image[] {
    const images = this.#images;
    this.#images = [];
    this.#draw();
    return images;
  }

  /** Puts images back that were not sent. */
  putBack(images: readonly Image[]): void {
    this.#images.unshift(...images);
    this.#draw();
  }

  async #add(file: File): Promise<void> {
    if (!TYPES.includes(file.type) || file.size > LARGEST) {
      this.#refused("Only PNG, JPEG, GIF and WebP images of up to 20 MB can be sent.");
      return;
    }
    const address = await dataAddress(file);
    this.#images.push({ mimeType: file.type, data: address.slice(address.indexOf(",") + 1) });
    this.#draw();
  }

  #draw(): void {
    this.element.hidden = this.#images.length === 0;
    this.element.replaceChildren(...this.#images.map((image, at) => this.#view(image, at)));
  }

  #view(image: Image, at: number): HTMLElement {
    const remove = button("×", () => {
      this.#images.splice(at, 1);
      this.#draw();
    }, { class: "icon", "aria-label": `Remove image ${at + 1}` });
    return h("span", { class: "thumb" }, h("img", { src: `data:${image.mimeType};base64,${image.data}`, alt: `Image ${at + 1}` }), remove);
  }
}

function dataAddress(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => { resolve(typeof reader.result === "string" ? reader.result : ""); });
    reader.addEventListener("error", () => { reject(new Error("The image could not be read")); });
    reader.readAsDataURL(file);
  });
}
