import './shop.solid.jsx';
