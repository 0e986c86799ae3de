import Backbone from 'backbone';
import $ from 'jquery';
import _ from 'underscore';

Backbone.$ = $;
const Threads = Backbone.Collection.extend({ url: '/apps/api/threads' });
const View = Backbone.View.extend({ el: '#root', line: _.template('<p><b><%- name %></b> <%- note %></p>'), initialize() { this.listenTo(this.collection, 'sync', this.render); }, render() { this.$el.html(this.collection.map((thread) => this.line(thread.attributes)).join('')); } });
const threads = new Threads();
new View({ collection: threads });
threads.fetch();
