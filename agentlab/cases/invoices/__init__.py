"""The invoice case: documents in, postings in an ERP out, and everything in between behind guards."""
