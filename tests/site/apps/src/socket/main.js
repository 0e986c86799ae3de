const socket = new WebSocket(`ws://${location.host}/apps/api/socket`);
socket.onmessage = ({ data }) => document.querySelector('main').insertAdjacentHTML('beforeend', `<p>${data}</p>`);
