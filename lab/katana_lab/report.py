def write(run, folder): pass
