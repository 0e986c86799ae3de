import { AllCommunityModule, createGrid, ModuleRegistry } from 'ag-grid-community';
import { getThreads, put } from '../page.js';

ModuleRegistry.registerModules([AllCommunityModule]);
const rowData = await getThreads();
createGrid(put('<div style="width:1000px;height:500px"></div>'), { rowData, columnDefs: ['name', 'stuff', 'metres', 'note'].map((field) => ({ field, width: 200 })) });
