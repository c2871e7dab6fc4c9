//! Statistics: plain numbers in, plain numbers out; knows no word of RAG.
