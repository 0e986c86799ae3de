"""What objects of data state of the fields of their page: one module for each kind of object."""
