export const evening = (notes) => `In the evening they read aloud: ${notes.map((note) => note.title).join(', ')}.`;
