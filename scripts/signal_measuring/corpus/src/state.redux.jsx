import { configureStore, createAsyncThunk, createSlice } from '@reduxjs/toolkit';
import { Provider, useSelector } from 'react-redux';
import { getThreads, show } from '../react.jsx';

const load = createAsyncThunk('load', getThreads);
const shelf = createSlice({ name: 'shelf', initialState: [], reducers: {}, extraReducers: (builder) => builder.addCase(load.fulfilled, (_, { payload }) => payload) });
const store = configureStore({ reducer: { shelf: shelf.reducer } });
const Page = () => useSelector((state) => state.shelf).map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>);
show(<Provider store={store}><Page /></Provider>);
store.dispatch(load());
