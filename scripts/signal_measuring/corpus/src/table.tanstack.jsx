import { createColumnHelper, flexRender, getCoreRowModel, getSortedRowModel, useReactTable } from '@tanstack/react-table';
import { show, useThreads } from '../react.jsx';

const column = createColumnHelper();
const columns = ['name', 'stuff', 'metres', 'note'].map((name) => column.accessor(name, { header: name }));
function Page() {
  const table = useReactTable({ data: useThreads(), columns, getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(), initialState: { sorting: [{ id: 'metres', desc: true }] } });
  return <table><thead>{table.getHeaderGroups().map((group) => <tr key={group.id}>{group.headers.map((header) => <th key={header.id}>{flexRender(header.column.columnDef.header, header.getContext())}</th>)}</tr>)}</thead><tbody>{table.getRowModel().rows.map((row) => <tr key={row.id}>{row.getVisibleCells().map((cell) => <td key={cell.id}>{cell.getValue()}</td>)}</tr>)}</tbody></table>;
}
show(<Page />);
