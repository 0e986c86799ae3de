import $ from 'jquery';

$(() => {
  $.getJSON('/apps/api/threads').done((threads) => $.each(threads, (_, thread) => $('<p>').text(`${thread.name}: ${thread.note}`).hide().appendTo('#root').fadeIn(200)));
  $('<div>').appendTo('#root').load('/apps/api/board h2');
});
