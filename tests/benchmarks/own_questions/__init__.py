"""Whether made questions order searchers as gold questions do."""
