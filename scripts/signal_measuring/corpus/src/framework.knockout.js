import ko from 'knockout';
import { getThreads, put, root } from '../page.js';

put('<h1>Knocked out</h1><ul data-bind="foreach: threads"><li><b data-bind="text: name"></b> <span data-bind="text: note"></span></li></ul><p>In all <i data-bind="text: total"></i> metres</p>');
put('<p data-bind="visible: total() > 99999">This sentence is for rich mills only.</p>');
const threads = ko.observableArray([]);
ko.applyBindings({ threads, total: ko.computed(() => threads().reduce((sum, { metres }) => sum + metres, 0)) }, root());
threads(await getThreads());
