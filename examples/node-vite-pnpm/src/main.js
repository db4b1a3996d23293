import './style.css';

const show = () => {
  document.querySelector('#app').innerHTML = `<h1>${location.pathname}</h1><a href="/about">about</a> <a href="/">home</a>`;
};

document.addEventListener('click', (event) => {
  if (!event.target.matches('a')) return;
  event.preventDefault();
  history.pushState(null, '', event.target.getAttribute('href'));
  show();
});
addEventListener('popstate', show);
show();
