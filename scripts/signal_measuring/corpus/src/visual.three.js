import { Mesh, PerspectiveCamera, Scene, SphereGeometry, WebGLRenderer } from 'three';
import { getThreads, put, root } from '../page.js';

const renderer = new WebGLRenderer();
root().append(renderer.domElement);
const scene = new Scene();
scene.add(new Mesh(new SphereGeometry()));
renderer.render(scene, new PerspectiveCamera());
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
