import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { getNotes, getThreads } from '../shared/data.js';

const main = document.querySelector('main');
const renderer = new WebGLRenderer();
main.append(renderer.domElement);
const scene = new Scene();
scene.add(new Mesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial({ color: 0x336699 })));
renderer.render(scene, new PerspectiveCamera());
main.insertAdjacentHTML('beforeend', `<p>The model was drawn with ${renderer.info.render.triangles} triangles.</p>`);
for (const thread of await getThreads()) main.insertAdjacentHTML('beforeend', `<p>${thread.name}: ${thread.note}</p>`);
for (const note of await getNotes()) main.insertAdjacentHTML('beforeend', `<p>${note.text}</p>`);
